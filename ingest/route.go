package ingest

import (
	"net/http"
	"strings"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/schemas"
)

// endpoint is what a path stands for: one call of a type, or a batch, which has
// none.
type endpoint struct {
	call  schemas.Type
	limit int // bytes of the body
}

// endpointOf reads a path of the protocol (rule 4), with or without a slash at
// its end.
func endpointOf(path string) (endpoint, bool) {
	name, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return endpoint{}, false
	}
	switch strings.TrimSuffix(name, "/") {
	case "batch", "import":
		return batchEndpoint(), true
	case "identify", "i":
		return single(schemas.TypeIdentify), true
	case "track", "t":
		return single(schemas.TypeTrack), true
	case "page", "p":
		return single(schemas.TypePage), true
	case "screen", "s":
		return single(schemas.TypeScreen), true
	case "group", "g":
		return single(schemas.TypeGroup), true
	case "alias", "a":
		return single(schemas.TypeAlias), true
	default:
		return endpoint{}, false
	}
}

func batchEndpoint() endpoint { return endpoint{limit: schemas.MaxBatchBytes} }

func single(call schemas.Type) endpoint {
	return endpoint{call: call, limit: schemas.MaxCallBytes}
}

func (e endpoint) batch() bool { return e.call == "" }

// route judges all of a request that can be judged without key and body.
func route(r *http.Request) (endpoint, error) {
	e, ok := endpointOf(r.URL.Path)
	if !ok {
		return e, answer.NotFound()
	}
	if r.Method != http.MethodPost {
		return e, answer.MethodNotAllowed()
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return e, answer.UnsupportedEncoding()
	}
	return e, nil
}
