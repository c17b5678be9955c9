package audit

import (
	"slices"

	"github.com/anabranch/anabranch/internal/spill"
)

// piles sort facts in bounded memory: a fact goes to the pile that its fingerprint tells, and
// a pile at a time is read back and sorted, since all that concerns one event is in one. The
// files of package seen hold each fingerprint once, and are asked for one: they do not serve.
type piles struct {
	*spill.Piles

	fact [factBytes]byte
}

func newPiles() piles { return piles{Piles: spill.New(nil)} }

func (p *piles) add(f fact) error { return p.Add(f.fingerprint, f.append(p.fact[:0])) }

// each hands out the groups of facts, in order of their fingerprints. Nothing may be added
// any more.
func (p *piles) each(group func([]fact)) error {
	var all []fact
	for num := range spill.Many {
		all = all[:0]
		if err := p.Each(num, func(entry []byte) error {
			all = append(all, factOf(entry))
			return nil
		}); err != nil {
			return err
		}
		slices.SortFunc(all, compareFacts)
		for rest := all; len(rest) > 0; {
			n := 1
			for n < len(rest) && sameGroup(&rest[0], &rest[n]) {
				n++
			}
			group(rest[:n])
			rest = rest[n:]
		}
	}
	return nil
}
