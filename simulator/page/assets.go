package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
)

//go:embed assets
var assets embed.FS

// marks are the hashes of the assets.
var marks = sync.OnceValue(func() map[string]string {
	marks := map[string]string{}
	_ = fs.WalkDir(assets, "assets", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			raw, _ := assets.ReadFile(path)
			sum := sha256.Sum256(raw)
			marks[path] = hex.EncodeToString(sum[:6])
		}
		return err
	})
	return marks
})

// asset is the address of an asset, which changes when the asset does.
func asset(name string) (string, error) {
	mark, ok := marks()["assets/"+name]
	if !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return "/assets/" + name + "?" + mark, nil
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
