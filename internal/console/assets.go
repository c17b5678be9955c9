package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

// static is where scripts and the stylesheet are. They are the same for everybody.
const static = Path + "/static/"

//go:embed static
var staticFiles embed.FS

// asset is a file that pages refer to by what it holds, so that browsers may keep it.
type asset struct {
	content []byte
	version string
}

var assets = readAssets()

func readAssets() map[string]asset {
	files, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // it is part of the program
	}
	all := make(map[string]asset)
	for _, f := range files {
		content, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		all[f.Name()] = asset{content, hex.EncodeToString(sum[:8])}
	}
	return all
}

// kinds are the types of the files, which must not depend on the machine.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// assetURL is where a page finds a file.
func assetURL(name string) string { return static + name + "?v=" + assets[name].version }

func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, static)
	a, known := assets[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Header().Set("Content-Type", kinds[path.Ext(name)])
	_, _ = w.Write(a.content) // the client has gone; there is nobody to tell
}
