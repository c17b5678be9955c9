package ingest

import (
	"net/http"
	"strings"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/schemas"
)

// endpoint is what a path stands for.
type endpoint struct {
	call     schemas.Type // of the one call; "" for a batch, whose calls say theirs
	beacon   bool         // only browsers send there
	discards bool         // what is sent there is of no use here
	doubled  bool         // the version is in it twice
}

func (e endpoint) batch() bool { return e.call == "" }

// endpointOf reads a path of the protocol (rule 4), with or without a slash at
// its end.
func endpointOf(path string) (endpoint, bool) {
	const version = "/v1"
	if strings.HasPrefix(path, version+version+"/") {
		// An endpoint was given with the version that the SDK adds itself.
		e, ok := endpointOf(path[len(version):])
		e.doubled = true
		return e, ok
	}
	path = strings.TrimSuffix(path, "/")
	if path == "/beacon/v1/batch" {
		return endpoint{beacon: true}, true
	}
	name, ok := strings.CutPrefix(path, "/v1/")
	switch {
	case !ok:
		return endpoint{}, false
	case name == "batch" || name == "import" || name == "b":
		return endpoint{}, true
	case name == "m":
		// What analytics.js says of itself: how often it was called, and failed.
		return endpoint{discards: true}, true
	}
	call, ok := callOf(name)
	return endpoint{call: call}, ok
}

// callOf returns the type of call that a path names, in full or in short.
func callOf(name string) (schemas.Type, bool) {
	switch name {
	case "identify", "i":
		return schemas.TypeIdentify, true
	case "track", "t":
		return schemas.TypeTrack, true
	case "page", "p":
		return schemas.TypePage, true
	case "screen", "s":
		return schemas.TypeScreen, true
	case "group", "g":
		return schemas.TypeGroup, true
	case "alias", "a":
		return schemas.TypeAlias, true
	default:
		return "", false
	}
}

// route judges all of a request that can be judged without key and body.
func route(r *http.Request) (endpoint, error) {
	e, ok := endpointOf(r.URL.Path)
	switch {
	case !ok:
		return e, answer.NotFound()
	case r.Method != http.MethodPost:
		return e, answer.MethodNotAllowed()
	}
	return e, nil
}
