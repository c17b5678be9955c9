package schemas

// Origin says who put an event on raw-events. Personas must not count its own
// calls, and an operator wants to tell live traffic from replayed traffic.
type Origin string

// The origins of an event.
const (
	OriginAPI      Origin = "api"      // a call accepted by ingest
	OriginPersonas Origin = "personas" // a membership or trait that personas computed
	OriginDeletion Origin = "deletion" // the notification of a deletion request
	OriginReplay   Origin = "replay"   // a record sent again on an operator's request
)

func origins() []Origin {
	return []Origin{OriginAPI, OriginPersonas, OriginDeletion, OriginReplay}
}
