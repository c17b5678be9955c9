package kafka

import (
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TooLarge reports whether records were refused for their size, by a broker or by
// our own client before one was asked. Both are about a whole batch: brokers look at
// its bytes first (MESSAGE_TOO_LARGE), and at what it takes in a segment then
// (RECORD_LIST_TOO_LARGE). Which record is the cause is known only of one that was
// refused alone.
func TooLarge(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge)
}

// Fenced reports whether brokers say that a client's transaction, its transactional id
// or its place in a group is its own no more: somebody else has it, its own successor
// perhaps, or nobody, where the brokers aborted the transaction.
func Fenced(err error) bool {
	return slices.ContainsFunc([]error{
		kerr.ProducerFenced, kerr.InvalidProducerEpoch, // the id is in use elsewhere, as newer and as older brokers say it
		kerr.InvalidTxnState,  // there is no transaction that could be written to or ended
		kerr.FencedInstanceID, // another member of the group bears the name
	}, func(cause error) bool { return errors.Is(err, cause) })
}

// DataLoss reports whether the client has noticed that brokers lost records which they
// had acknowledged. It goes on by itself; [Losses.Look] says what is lost.
func DataLoss(err error) bool {
	_, lost := errors.AsType[*kgo.ErrDataLoss](err)
	return lost
}
