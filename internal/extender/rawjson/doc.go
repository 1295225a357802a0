// Package rawjson walks JSON text in place: it finds values, checks them and
// hands out the bytes they stand in, and decodes nothing that nobody asks for.
//
// It exists because a request with 5,000 full nodes is 31 MB of which the
// extender reads 5,000 names and passes the rest on as it came. It accepts
// exactly the text that encoding/json.Valid accepts, which its fuzz target
// proves, so what it passes on is valid JSON too.
//
// It is no general JSON library: there is no encoder, no reflection and no
// number parsing; whoever needs a typed value gives its bytes to encoding/json.
package rawjson
