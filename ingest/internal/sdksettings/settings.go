package sdksettings

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Family is the SDKs that ask for settings in the same way.
type Family int

// The families.
const (
	None    Family = iota // the request asks for none
	Segment               // GET /v1/projects/<key>/settings
	Rudder                // GET /sourceConfig, with the key in header or query
)

// Asked returns whose settings a request asks for. Of Segment's, the key stands in
// the path.
func Asked(r *http.Request) (of Family, key string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return None, ""
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	// Some SDKs have the version in the host that they are given, others add it.
	for strings.HasPrefix(path, "/v1/") {
		path = path[len("/v1"):]
	}
	if path == "/sourceConfig" {
		return Rudder, ""
	}
	rest, project := strings.CutPrefix(path, "/projects/")
	key, settings := strings.CutSuffix(rest, "/settings")
	if !project || !settings {
		return None, ""
	}
	return Segment, key
}

// ForSegment returns the settings of a key's source, whose calls go to a host,
// which may have a port.
func ForSegment(key, host string) []byte {
	type destination struct {
		APIKey  string `json:"apiKey"`
		APIHost string `json:"apiHost"`
	}
	type metrics struct {
		SampleRate int `json:"sampleRate"`
	}
	return text(struct {
		Integrations map[string]destination `json:"integrations"`
		Metrics      metrics                `json:"metrics"`
	}{Integrations: map[string]destination{"Segment.io": {APIKey: key, APIHost: host + "/v1"}}})
}

// ForRudder returns the settings of a source.
func ForRudder(key, sourceID string) []byte {
	type switched struct {
		Enabled bool `json:"enabled"`
	}
	type source struct {
		ID           string `json:"id"`
		Name         string `json:"name"`
		WriteKey     string `json:"writeKey"`
		Enabled      bool   `json:"enabled"`
		WorkspaceID  string `json:"workspaceId"`
		Destinations []int  `json:"destinations"` // none: all is sent here
		Config       struct {
			StatsCollection struct {
				Errors  switched `json:"errors"`
				Metrics switched `json:"metrics"`
			} `json:"statsCollection"`
		} `json:"config"`
	}
	return text(struct {
		Source source `json:"source"`
	}{source{ID: sourceID, Name: sourceID, WriteKey: key, Enabled: true, WorkspaceID: "workspace", Destinations: []int{}}})
}

// text returns settings as JSON. Nothing in them can't be written.
func text(settings any) []byte {
	encoded, _ := json.Marshal(settings)
	return encoded
}
