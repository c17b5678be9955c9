package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// settingsAge is for how long a client may keep settings, in seconds.
const settingsAge = "60"

// Unchanged reports whether the client of a request has these settings.
func Unchanged(r *http.Request, settings []byte) bool {
	known := r.Header.Get("If-None-Match")
	return known == "*" || strings.Contains(known, etag(settings))
}

// WriteSettings answers with settings, or that the client has them.
func WriteSettings(w http.ResponseWriter, settings []byte, unchanged bool) {
	header := w.Header()
	header.Set("Cache-Control", "max-age="+settingsAge)
	header["ETag"] = []string{etag(settings)}
	header.Set("Vary", "Origin") // also where no page asked: a cache may have it for one
	if unchanged {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "application/json")
	_, _ = w.Write(settings)
}

// etag tells settings apart, in quotes.
func etag(settings []byte) string {
	sum := sha256.Sum256(settings)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}
