package wsrecord

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

type sourceRecord struct {
	Name           string      `json:"name"`
	WriteKeySHA256 string      `json:"writeKeySHA256"` // 64 hexadecimal digits
	Enabled        bool        `json:"enabled"`
	TrackingPlan   *planRecord `json:"trackingPlan,omitempty"`
}

type destinationRecord struct {
	Type         string           `json:"type"`
	Name         string           `json:"name"`
	Sources      []string         `json:"sources"`
	Enabled      bool             `json:"enabled"`
	SharedSecret string           `json:"sharedSecret,omitempty"`
	Endpoints    []endpointRecord `json:"endpoints"`
}

type endpointRecord struct {
	URL     string         `json:"url"`
	Headers []headerRecord `json:"headers,omitempty"`
}

type headerRecord struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// encodeJSON leaves <, > and & as they are: escaped for HTML, as json.Marshal
// does it, each of them takes six bytes of a record's limit.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

func encodeSource(s workspace.Source) ([]byte, error) {
	return encodeJSON(sourceRecord{s.Name, hex.EncodeToString(s.WriteKeyHash[:]), s.Enabled, planToRecord(s.Plan)})
}

func decodeSource(id string, text []byte) (workspace.Source, error) {
	var r sourceRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return workspace.Source{}, withoutValues(err)
	}
	hash, err := hex.DecodeString(r.WriteKeySHA256)
	if err != nil || len(hash) != sha256.Size {
		return workspace.Source{}, errors.New("writeKeySHA256: expected 64 hexadecimal digits")
	}
	plan, err := r.TrackingPlan.plan()
	if err != nil {
		return workspace.Source{}, err
	}
	return workspace.Source{ID: id, Name: r.Name, WriteKeyHash: [sha256.Size]byte(hash), Enabled: r.Enabled, Plan: plan}, nil
}

func encodeDestination(d *workspace.Destination) ([]byte, error) {
	r := destinationRecord{
		Type: d.Type, Name: d.Name, Sources: d.Sources, Enabled: d.Enabled,
		SharedSecret: d.SharedSecret.Reveal(), Endpoints: make([]endpointRecord, len(d.Endpoints)),
	}
	for i, e := range d.Endpoints {
		r.Endpoints[i].URL = e.URL
		for _, h := range e.Headers {
			r.Endpoints[i].Headers = append(r.Endpoints[i].Headers, headerRecord{h.Name, h.Value.Reveal()})
		}
	}
	return encodeJSON(r)
}

// decodeDestination holds a record to the rules of the file: what is written
// to the topic by other means can't replace a signature either.
func decodeDestination(id string, text []byte) (workspace.Destination, error) {
	var r destinationRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return workspace.Destination{}, withoutValues(err)
	}
	if err := r.check(); err != nil {
		return workspace.Destination{}, err
	}
	d := workspace.Destination{
		ID: id, Type: r.Type, Name: r.Name, Sources: r.Sources, Enabled: r.Enabled,
		SharedSecret: schemas.Secret(r.SharedSecret), Endpoints: make([]workspace.Endpoint, len(r.Endpoints)),
	}
	for i, e := range r.Endpoints {
		d.Endpoints[i].URL = e.URL
		for _, h := range e.Headers {
			d.Endpoints[i].Headers = append(d.Endpoints[i].Headers, workspace.Header{Name: h.Name, Value: schemas.Secret(h.Value)})
		}
	}
	return d, nil
}

func (r *destinationRecord) check() error {
	if objection := rules.Type(r.Type); objection != "" {
		return fmt.Errorf("type: expected %s", objection)
	}
	if objection := rules.Endpoints(len(r.Endpoints)); objection != "" {
		return fmt.Errorf("endpoints: expected %s", objection)
	}
	for i, e := range r.Endpoints {
		if objection := e.objection(); objection != "" {
			return fmt.Errorf("endpoints[%d]: expected %s", i, objection)
		}
	}
	return nil
}

func (e *endpointRecord) objection() string {
	if objection := rules.URL(e.URL); objection != "" {
		return objection
	}
	for _, h := range e.Headers {
		if objection := rules.HeaderName(h.Name); objection != "" {
			return objection
		}
		if objection := rules.HeaderValue(h.Value); objection != "" {
			return objection
		}
	}
	return rules.Headers(len(e.Headers))
}

// withoutValues describes an error of package json by place alone: its own
// text quotes numbers, and a secret may be one.
func withoutValues(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: expected %s", wrong.Field, wrong.Type)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("offset %d: not JSON", syntax.Offset)
	}
	return errors.New("not JSON")
}
