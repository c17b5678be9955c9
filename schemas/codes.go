package schemas

// Code says why a call or a request was refused. It is one closed set: the
// "code" of error answers, the label of metrics and the word in logs.
type Code string

// The codes. The first eight are of one call and come from [Outline.Validate];
// the others are of bytes and batches, which ingest sees before it has a call.
const (
	CodeTypeUnknown         Code = "type_unknown"          // not a type that the API accepts, or none
	CodeNoUserAnonID        Code = "no_user_anon_id"       // neither a userId nor an anonymousId
	CodeIDRequired          Code = "id_required"           // group without groupId, alias without previousId or userId
	CodeEventNotDefined     Code = "event_not_defined"     // track without the name of an event
	CodeEventNotString      Code = "event_not_string"      // track with an event that is no string
	CodeNameNotString       Code = "name_not_string"       // page or screen with a name that is no string
	CodePropertiesNotObject Code = "properties_not_object" // track, page or screen
	CodeTraitsNotObject     Code = "traits_not_object"     // identify or group
	CodeTooLarge            Code = "too_large"             // beyond MaxCallBytes, MaxBatchBytes, MaxMessageIDChars or MaxDepth
	CodeTooManyEvents       Code = "too_many_events"       // beyond MaxBatchEvents
	CodeInvalidJSON         Code = "invalid_json"          // not JSON, not an object, or nothing at all
	CodeEmptyBatch          Code = "empty_batch"           // a batch without events
)

// Codes returns all codes, so that series can be created before the first
// refusal.
func Codes() []Code {
	return []Code{
		CodeTypeUnknown,
		CodeNoUserAnonID,
		CodeIDRequired,
		CodeEventNotDefined,
		CodeEventNotString,
		CodeNameNotString,
		CodePropertiesNotObject,
		CodeTraitsNotObject,
		CodeTooLarge,
		CodeTooManyEvents,
		CodeInvalidJSON,
		CodeEmptyBatch,
	}
}

// Violation is the one rule that a call breaks first.
type Violation struct {
	Code    Code
	Message string // what was found and what was expected, for people
}

// Error returns "code: message".
func (v *Violation) Error() string { return string(v.Code) + ": " + v.Message }
