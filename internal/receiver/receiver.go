package receiver

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// maxBody is far above any delivery: a call is at most 32 KB (spec.md, Limits).
const maxBody = 1 << 20

// receiver prints deliveries.
type receiver struct {
	secret schemas.Secret
	color  bool

	mu  sync.Mutex // one delivery is printed at a time
	out io.Writer
}

// New returns a webhook receiver that checks the signature of each
// delivery as a customer would and prints the delivery to w in a single Write.
//
// It answers 200 with {"success":true}; 401 when the secret is not empty and the
// signature is missing or wrong, which it prints too; 405 to all but POST; 413
// to a body over 1 MiB. With an empty secret nothing is checked.
func New(w io.Writer, secret schemas.Secret, color bool) http.Handler {
	return &receiver{secret: secret, color: color, out: w}
}

// ServeHTTP receives one delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		answer(w, http.StatusMethodNotAllowed, "a delivery is a POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		answer(w, http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
		return
	}
	if err != nil {
		answer(w, http.StatusBadRequest, "the body did not arrive whole")
		return
	}
	sign := checkSignature(r.secret, body, req.Header.Get(schemas.SignatureHeader))
	// Printed before it is answered: what was acknowledged has been seen.
	if err := r.print(delivery{at: time.Now(), body: body, sign: sign}); err != nil {
		answer(w, http.StatusInternalServerError, "the delivery could not be printed")
		return
	}
	if sign.verdict == signatureBad {
		answer(w, http.StatusUnauthorized, sign.reason)
		return
	}
	answer(w, http.StatusOK, "")
}

func (r *receiver) print(d delivery) error {
	text := d.append(nil, palette(r.color))
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.out.Write(text)
	return err
}

// answer writes the status; a problem must need no escaping in JSON.
func answer(w http.ResponseWriter, status int, problem string) {
	text := `{"success":true}`
	if problem != "" {
		text = `{"success":false,"error":"` + problem + `"}`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write([]byte(text))
}
