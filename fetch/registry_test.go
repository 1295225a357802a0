package fetch

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// images is a registry, and what speaks in its stead, if anything does.
type images struct {
	host     string
	registry http.Handler
}

// newRegistry starts a registry in the process. User "stranger" is not logged in to it.
func newRegistry(t *testing.T, before func(registry http.Handler) http.Handler, options ...registry.Option) images {
	t.Helper()
	logInWith(t, "")
	stored := registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...)
	handler := stored
	if before != nil {
		handler = before(stored)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return images{host: strings.TrimPrefix(server.URL, "http://"), registry: stored}
}

// logInWith makes a docker config the only one there is.
func logInWith(t *testing.T, config string) {
	t.Helper()
	dir := t.TempDir()
	for _, place := range []string{"HOME", "DOCKER_CONFIG", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(place, dir)
	}
	t.Setenv("REGISTRY_AUTH_FILE", "")
	if config == "" {
		return
	}
	testkit.WriteFile(t, filepath.Join(dir, "config.json"), config)
}

// push stores an image of these layers in the registry itself, whatever speaks in
// its stead.
func (r images) push(t *testing.T, image string, layers ...v1.Layer) (digest string) {
	t.Helper()
	server := httptest.NewServer(r.registry)
	defer server.Close()
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), "application/vnd.wasm.config.v0+json")
	img, err := mutate.AppendLayers(img, layers...)
	testkit.Must(t, err)
	testkit.Must(t, remote.Write(reference(t, server, image), img))
	hash, err := img.Digest()
	testkit.Must(t, err)
	return hash.String()
}

func reference(t *testing.T, server *httptest.Server, image string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/" + image)
	testkit.Must(t, err)
	return ref
}

func layer(content string, mediaType types.MediaType) v1.Layer {
	return static.NewLayer([]byte(content), mediaType)
}

const (
	program = magic + " is how it begins"
	readme  = "text/markdown"
)

func TestGuestFromARegistry(t *testing.T) {
	r := newRegistry(t, nil)
	digest := r.push(t, "team/guest:v1", layer(program, wasmLayers[0]))
	r.push(t, "older:v1", layer(program, wasmLayers[1]))
	r.push(t, "documented:v1", layer("# Guest", readme), layer(program, wasmLayers[0]))
	for name, image := range map[string]string{
		"by tag":                     "team/guest:v1",
		"by digest":                  "team/guest@" + digest,
		"by digest, whatever is tag": "team/guest:v2@" + digest,
		"as wasm-to-oci stores it":   "older:v1",
		"beside something else":      "documented:v1",
	} {
		wasm, err := get(t, Fetcher{}, "oci://"+r.host+"/"+image)
		if err != nil || string(wasm) != program {
			t.Errorf("%s: got %q, %v", name, wasm, err)
		}
	}
}

func TestImagesThatCannotBeUsed(t *testing.T) {
	r := newRegistry(t, nil)
	r.push(t, "guest:v1", layer(program, wasmLayers[0]))
	r.push(t, "alpine:3", layer("a file system", types.OCILayer))
	r.push(t, "two:v1", layer(program, wasmLayers[0]), layer(program+"2", wasmLayers[0]))
	r.push(t, "large:v1", layer(magic+strings.Repeat("x", 1<<20), wasmLayers[0]))
	r.push(t, "text:v1", layer(secret, wasmLayers[0]))
	r.pushIndex(t, "index:v1")
	const unknown = "@sha256:0000000000000000000000000000000000000000000000000000000000000000"
	for _, tt := range []struct{ name, url, want string }{
		{"an unknown name", "oci://" + r.host + "/absent:v1", "the registry answered 404 Not Found"},
		{"a tag that it does not have", "oci://" + r.host + "/guest:v2", "the registry answered 404 Not Found"},
		{"a digest that it does not have", "oci://" + r.host + "/guest" + unknown, "the registry answered 404 Not Found"},
		{"a container's image", "oci://" + r.host + "/alpine:3", "the image has 0 layers of type application/wasm, but must have one"},
		{"two programs", "oci://" + r.host + "/two:v1", "the image has 2 layers of type application/wasm, but must have one"},
		{"one that is too large", "oci://" + r.host + "/large:v1", "over guestSizeLimit, 1 MiB: 1048580 bytes"},
		{"what is no Wasm", "oci://" + r.host + "/text:v1", "not a Wasm module"},
		{"one of several", "oci://" + r.host + "/index:v1", "it is an index of images: name the one with the guest by its digest, @sha256:…"},
		{"neither tag nor digest", "oci://" + r.host + "/guest", errReference.Error()},
		{"no registry", "oci://guest:v1", errReference.Error()},
		{"a password", "oci://me:" + secret + "@" + r.host + "/guest:v1", errReference.Error()},
		{"half a digest", "oci://" + r.host + "/guest@sha256:00", errReference.Error()},
	} {
		_, err := get(t, Fetcher{}, tt.url)
		testkit.Equal(t, testkit.Message(err), tt.want, "%s", tt.name)
	}
}

func (r images) pushIndex(t *testing.T, image string) {
	t.Helper()
	server := httptest.NewServer(r.registry)
	defer server.Close()
	testkit.Must(t, remote.WriteIndex(reference(t, server, image), empty.Index))
}

// at answers for one kind of address: that of a manifest or of a blob.
func at(part string, handler http.HandlerFunc) func(http.Handler) http.Handler {
	return func(registry http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, part) {
				handler(w, r)
				return
			}
			registry.ServeHTTP(w, r)
		})
	}
}

func say(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}
}

func TestFetchSaysNothingOfARegistrysAnswer(t *testing.T) {
	complaint := `{"errors":[{"code":"DENIED","message":"` + secret + `","detail":"` + secret + `"}]}`
	const wantsHTTPS = "a registry must speak https, unless it is at localhost"
	for name, tt := range map[string]struct {
		part    string // of the addresses that are answered so
		handler http.HandlerFunc
		want    string
	}{
		"words about a ping":     {"/v2/", say(500, secret), "the registry answered 500 Internal Server Error"},
		"words about a manifest": {"/manifests/", say(403, complaint), "the registry answered 403 Forbidden"},
		"words about a layer":    {"/blobs/", say(404, complaint), "the registry answered 404 Not Found"},
		"a status of its own":    {"/manifests/", say(299, secret), "the registry answered 299"},
		"no manifest":            {"/manifests/", say(200, secret), "the registry's answer is not a manifest"},
		"a manifest of which a part is none": {
			"/manifests/", say(200, `{"layers":[{"digest":"`+secret+`"}]}`), "the registry's answer is not a manifest",
		},
		"another manifest, by digest":                   {"/manifests/", say(200, `{}`), stageManifest},
		"another layer of the same size":                {"/blobs/", say(200, strings.ToUpper(program)), stageLayer},
		"a manifest without an end":                     {"/manifests/", forever, "a manifest of the registry has more than 4 MiB"},
		"a layer without an end":                        {"/blobs/", forever, "over guestSizeLimit, 1 MiB"},
		"a challenge that is none":                      {"/v2/", challenge(secret), "the registry answered 401 Unauthorized: it wants other credentials than the docker config has"},
		"a challenge that leads to another host":        {"/v2/", challenge(`Bearer realm="http://` + secret + `.example.com/"`), wantsHTTPS},
		"the way to a machine that needs no encryption": {"/blobs/", redirect("http://example.com/" + secret), wantsHTTPS},
		"the way in circles":                            {"/blobs/", redirect("/v2/guest/blobs/" + secret), "redirected more than 5 times"},
		"half a layer":                                  {"/blobs/", half, "unexpected EOF"},
		"no layer ever":                                 {"/blobs/", silence, "not fetched within 1s: context deadline exceeded"},
	} {
		r := newRegistry(t, at(tt.part, tt.handler))
		digest := r.push(t, "guest:v1", layer(program, wasmLayers[0]))
		url := "oci://" + r.host + "/guest:v1"
		if strings.Contains(name, "by digest") {
			url = "oci://" + r.host + "/guest@" + digest
		}
		f := Fetcher{}
		if strings.Contains(tt.want, "not fetched within 1s") {
			f.Timeout = time.Second
		}
		_, err := get(t, f, url)
		testkit.Equal(t, testkit.Message(err), tt.want, "%s", name)
	}
}

func challenge(words string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", words)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

func forever(w http.ResponseWriter, _ *http.Request) {
	for block := make([]byte, 64<<10); ; {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = w.Write([]byte(magic))
}

func silence(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// members lets in who logs in as me, by a password or by a token that stands for it.
func members(realm func(*http.Request) string) func(http.Handler) http.Handler {
	return func(registry http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			knows := user == "me" && password == secret
			switch {
			case r.URL.Path == "/token" && knows:
				_ = json.NewEncoder(w).Encode(map[string]string{"token": "let me in"})
			case r.Header.Get("Authorization") == "Bearer let me in", realm == nil && knows:
				registry.ServeHTTP(w, r)
			case realm == nil:
				challenge(`Basic realm="members"`)(w, r)
			default:
				challenge(`Bearer service="members",realm="`+realm(r)+`"`)(w, r)
			}
		})
	}
}

func TestRegistryThatWantsALogin(t *testing.T) {
	const rejected = "the registry answered 401 Unauthorized: it wants other credentials than the docker config has"
	for name, realm := range map[string]func(*http.Request) string{
		"a password": nil,
		"a token":    func(r *http.Request) string { return "http://" + r.Host + "/token" },
	} {
		r := newRegistry(t, members(realm))
		r.push(t, "guest:v1", layer(program, wasmLayers[0]))
		for _, login := range []struct{ config, want string }{
			{"", rejected},
			{`{"auths":{"` + r.host + `":{"username":"me","password":"` + secret + `"}}}`, ""},
			{`{"auths":{"` + r.host + `":{"username":"me","password":"wrong"}}}`, rejected},
			{`{"auths":[]}`, "reading the docker config: "},
			{`{"auths":{"example.com":{"username":"me","password":"` + secret + `"}}}`, rejected},
		} {
			logInWith(t, login.config)
			_, err := get(t, Fetcher{}, "oci://"+r.host+"/guest:v1")
			if !strings.HasPrefix(testkit.Message(err), login.want) || (err == nil) != (login.want == "") {
				t.Errorf("%s, with %s: got %v, want %q", name, login.config, err, login.want)
			}
		}
	}
}

// refusing is a network in which nothing can be reached.
type refusing struct{ schemes *[]string }

func (n refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	*n.schemes = append(*n.schemes, req.URL.Scheme)
	return nil, failure{text: req.URL.Host + " is not there"}
}

func TestRegistryOnAnotherMachineIsAskedEncrypted(t *testing.T) {
	logInWith(t, "")
	for _, host := range []string{"registry.example.com", "10.0.0.1:5000"} {
		var schemes []string
		_, err := get(t, Fetcher{Transport: refusing{&schemes}}, "oci://"+host+"/guest:v1")
		testkit.Equal(t, schemes, []string{"https"}, "%s is asked by", host)
		testkit.ErrorHas(t, err, " is not there")
	}
}
