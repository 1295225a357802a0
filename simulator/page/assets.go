package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
)

//go:embed assets
var assets embed.FS

// asset is the address of an asset, which changes when the asset does.
func asset(name string) (string, error) {
	raw, err := assets.ReadFile("assets/" + name)
	sum := sha256.Sum256(raw)
	return "/assets/" + name + "?" + hex.EncodeToString(sum[:6]), err
}

// immutable is for files whose address changes with their content (see asset).
func immutable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		next.ServeHTTP(w, r)
	})
}
