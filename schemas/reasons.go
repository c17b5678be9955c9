package schemas

// Reason says why a delivery failed or a record was given up. It is one closed
// set: the label of metrics, the word in errors and logs, and the header of
// retried and dead records.
type Reason string

// The reasons.
const (
	ReasonStatus3xx           Reason = "status_3xx"           // a redirect: never followed
	ReasonStatus4xx           Reason = "status_4xx"           // refused by the receiver
	ReasonStatus5xx           Reason = "status_5xx"           // an error of the receiver; only ever a reason to retry
	ReasonTimeout             Reason = "timeout"              // no response in time
	ReasonNetwork             Reason = "network"              // no connection, a broken one, or no HTTP on it
	ReasonTLS                 Reason = "tls"                  // a certificate that does not verify, other than a self-signed one
	ReasonWindowExceeded      Reason = "window_exceeded"      // the next attempt would lie beyond the retry window
	ReasonSelfSigned          Reason = "self_signed"          // a self-signed certificate: no request was sent
	ReasonAddressRefused      Reason = "address_refused"      // an address that deliveries may not go to
	ReasonNotHTTPS            Reason = "not_https"            // an http:// endpoint where WEBHOOK_SINK_HTTPS_ONLY is set: no request was sent
	ReasonSecretsLocked       Reason = "secrets_locked"       // its secrets are encrypted with a key that the sink does not have: no request was sent
	ReasonDestinationRemoved  Reason = "destination_removed"  // no longer in the workspace
	ReasonDestinationDisabled Reason = "destination_disabled" // switched off
	ReasonTopicUnavailable    Reason = "topic_unavailable"    // the destination's topic is gone and can't be created
	ReasonRecordInvalid       Reason = "record_invalid"       // a record that can't be read
	ReasonVersionUnknown      Reason = "version_unknown"      // a record of a later release
	ReasonRecordTooLarge      Reason = "record_too_large"     // a record the broker does not take
	ReasonSourceUnknown       Reason = "source_unknown"       // an event of a source that the workspace does not have: nobody can say who listens to it
	ReasonPlanViolation       Reason = "plan_violation"       // a call that its source's tracking plan blocks: it never was on raw-events
)

// Reasons returns all reasons, so that series can be created before the first
// failure and a reason typed by a person can be checked.
func Reasons() []Reason {
	return []Reason{
		ReasonStatus3xx,
		ReasonStatus4xx,
		ReasonStatus5xx,
		ReasonTimeout,
		ReasonNetwork,
		ReasonTLS,
		ReasonWindowExceeded,
		ReasonSelfSigned,
		ReasonAddressRefused,
		ReasonNotHTTPS,
		ReasonSecretsLocked,
		ReasonDestinationRemoved,
		ReasonDestinationDisabled,
		ReasonTopicUnavailable,
		ReasonRecordInvalid,
		ReasonVersionUnknown,
		ReasonRecordTooLarge,
		ReasonSourceUnknown,
		ReasonPlanViolation,
	}
}
