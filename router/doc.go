// Package router moves each event of raw-events to the topic of every
// destination that shall have it, exactly once: the records read, the records
// written and the group's offsets are one Kafka transaction.
//
// It decides by the record's headers alone (source, integrations map) and the
// workspace; key and value are copied and never parsed. A record whose headers
// cannot be read leaves by the same door as a good one, to dead-letters inside
// the same transaction, so that it is neither skipped nor met again.
package router
