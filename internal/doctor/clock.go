package doctor

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// clockPatience is how far clocks may be apart. Retry times and the windows of four
// hours pass from one machine to another; seconds don't matter to them.
const clockPatience = 5 * time.Second

// clockFacts is what can be known of clocks. The protocol of the brokers does not
// tell their time; what they have are the time stamps of events: their own, or those
// of the machines that run ingest where the topic was created so.
type clockFacts struct {
	now          time.Time
	newest       time.Time // the latest time stamp on raw-events; zero: none
	synchronised bool      // as the kernel says, true where it does not tell
}

func judgeClock(c clockFacts) []Finding {
	f := &findings{check: CheckClock}
	if ahead := c.newest.Sub(c.now); !c.newest.IsZero() && ahead > clockPatience {
		f.problem("raw-events", fmt.Sprintf("its newest event is %s in the future: the clock of this machine, of a broker, or of a machine that runs ingest is wrong", terminal.Brief(ahead)),
			"synchronise the clocks (chrony, systemd-timesyncd): retry windows and due times depend on them")
	}
	if !c.synchronised {
		f.warn("this machine", "the kernel says that its clock is not synchronised", "run chrony or systemd-timesyncd")
	}
	return f.otherwise("no problem found with this machine's clock")
}
