package terminal

import (
	"fmt"
	"io"
	"time"
)

// showEvery is how often the line on a terminal changes.
const showEvery = time.Second

// Progress shows how far long work is: on a terminal by one line that changes in place, and
// elsewhere by a line now and then, each of which stays. What is over sooner than the first
// line is due shows none. It is used by one goroutine at a time.
type Progress struct {
	Out   io.Writer
	Live  bool          // Out is a terminal
	Every time.Duration // between lines where Out is none; 0: nothing is shown there

	begun  bool
	shown  time.Time // when a line was shown last, or the work began
	stands bool      // there is a line on the terminal
}

// Begin says when the work begins; without it, it begins when [Progress.Show] is called first.
func (p *Progress) Begin(now time.Time) { p.begun, p.shown = true, now }

// Show shows a line if one is due.
func (p *Progress) Show(now time.Time, line func() string) {
	every := p.Every
	if p.Live {
		every = showEvery
	}
	if !p.begun {
		p.Begin(now)
	}
	if every == 0 || now.Sub(p.shown) < every {
		return
	}
	p.shown = now
	if p.Live {
		p.stands = true
		p.print("\r\x1b[K" + line())
		return
	}
	p.print(line() + "\n")
}

// Leave ends the line on a terminal, for what comes below it.
func (p *Progress) Leave() { p.end("\n") }

// Clear takes the line on a terminal away: what the work has led to comes in its place.
func (p *Progress) Clear() { p.end("\r\x1b[K") }

func (p *Progress) end(how string) {
	if p.stands {
		p.stands = false
		p.print(how)
	}
}

func (p *Progress) print(text string) {
	_, _ = fmt.Fprint(p.Out, text) // that nobody listens is no reason to stop the work
}
