package regulate

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/regulation"
)

// created is the answer to a request.
type created struct {
	Data struct {
		RegulateID string `json:"regulateId"`
	} `json:"data"`
}

// status is the answer to a question for one. Members beyond those of this
// product stand for clients of the public API, which miss them otherwise.
type status struct {
	Data struct {
		Regulation statusBody `json:"regulation"`
	} `json:"data"`
}

type statusBody struct {
	ID             string            `json:"id"`
	WorkspaceID    string            `json:"workspaceId"`
	RegulationType regulation.Type   `json:"regulationType"`
	Status         regulation.Status `json:"status"`
	OverallStatus  regulation.Status `json:"overallStatus"`
	CreatedAt      string            `json:"createdAt"`
	FinishedAt     string            `json:"finishedAt,omitempty"`
	Subjects       int               `json:"subjects"`         // users concerned
	Notified       int               `json:"subjectsNotified"` // of those, whom every affected source was told of
	Reason         string            `json:"reason,omitempty"`
	Meaning        string            `json:"meaning"` // what the status says, for people
	StreamStatus   []streamStatus    `json:"streamStatus"`
}

// streamStatus names an affected source. What becomes of its notifications is seen
// in the metrics of the destinations.
type streamStatus struct {
	ID                string   `json:"id"`
	DestinationStatus []string `json:"destinationStatus"` // always empty
}

// workspaceID stands where the public API names one of many.
const workspaceID = "default"

func statusOf(r *regulation.Regulation) status {
	var a status
	a.Data.Regulation = statusBody{
		ID: r.ID, WorkspaceID: workspaceID, RegulationType: r.Type,
		Status: r.Status, OverallStatus: r.Status,
		CreatedAt: instant(r.CreatedAt), FinishedAt: instant(r.FinishedAt),
		Subjects: r.Subjects, Notified: r.Notified, Reason: r.Reason, Meaning: meaning(r),
		StreamStatus: []streamStatus{},
	}
	if regulation.IsBySeen(r.Sources) {
		return a // which they are differs from user to user
	}
	for _, id := range r.Sources {
		a.Data.Regulation.StreamStatus = append(a.Data.Regulation.StreamStatus, streamStatus{ID: id, DestinationStatus: []string{}})
	}
	return a
}

// meaning says what is finished and what is not: a notification that is written has yet to be delivered.
func meaning(r *regulation.Regulation) string {
	now := map[regulation.Type]string{
		regulation.SuppressWithDelete: "the users' calls are dropped; ", regulation.SuppressOnly: "the users' calls are dropped",
		regulation.Unsuppress: "the users' calls are taken in again",
	}[r.Type]
	if r.Type == regulation.SuppressOnly || r.Type == regulation.Unsuppress {
		return now
	}
	switch r.Status {
	case regulation.Finished:
		if regulation.IsBySeen(r.Sources) {
			return now + "personas, when it runs, forgets the users and writes a notification to delete for each source that has seen them; the metrics and dead letters of destinations tell of its delivery"
		}
		return now + "every notification to delete is on its way to its destinations, whose metrics and dead letters tell of its delivery"
	case regulation.Failed:
		return now + "the rest of the notifications to delete is never sent"
	default:
		return now + "notifications to delete are being written"
	}
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// failure is every answer that is no success.
type failure struct {
	Errors []problem `json:"errors"`
}

// refuse answers with what is wrong.
func refuse(w http.ResponseWriter, code int, problems ...problem) {
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(1))
	}
	answer(w, code, failure{problems})
}

func answer(w http.ResponseWriter, code int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "encode the answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n')) // the client has gone; there is nobody to tell
}
