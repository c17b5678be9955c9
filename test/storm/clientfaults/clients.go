package clientfaults

import (
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/report"
)

// judgeClients holds what arrived against what clients have sent. Order is that of
// the producers whose clients keep it themselves: one that sends two batches at
// the same time does not say which is the first.
func judgeClients(r *report.Result, b *books.Books, ordered func(producer string) bool) {
	r.Inverted = b.Tally(ordered).Inverted
	r.Require(r.Inverted == 0, "%d calls overtook an older one of the same user", r.Inverted)
	others := b.Tally(func(producer string) bool { return !ordered(producer) })
	if others.Sent > 0 {
		r.Note("%d of %d calls out of order from SDKs that do not keep it", others.Inverted, others.Sent)
	}
	unasked, again := b.Unasked(), b.Again()
	r.Note("%d calls sent again, %d arrivals that no client had sent", again, unasked)
	r.Require(unasked == 0, "%d arrivals that no client had sent", unasked)
	// Kills between two requests prove nothing.
	r.Require(again > 0, "no request was cut off by a kill")
}
