package plan

import (
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Review holds the calls of one request against a plan. Nil is the review where
// there is no plan.
type Review struct {
	plan      *Plan
	violating int
}

// Review returns a review of the calls of one request that came in through a
// source of the workspace.
func (p *Plans) Review(s *workspace.Snapshot, source string) *Review {
	plan := p.Of(s, source)
	if plan == nil {
		return nil
	}
	return &Review{plan: plan}
}

// Judge returns what decode.Terms have for Review: a function that does with a
// call that violates the plan what its action is. It is nil where there is no
// plan.
func (r *Review) Judge() func(*decode.Call) *schemas.Violation {
	if r == nil {
		return nil
	}
	return r.judge
}

// judge blocks with a violation that has a message but no code: to the client the
// call is accepted, so no answer has a word for it. A call that is blocked is not
// marked; should it be sent again from the dead letters, then as it came.
func (r *Review) judge(c *decode.Call) *schemas.Violation {
	findings := r.plan.Check(c.Type(), c.Event(), content(c))
	if len(findings) == 0 {
		return nil
	}
	r.violating++
	switch r.plan.action {
	case workspace.PlanBlock:
		return &schemas.Violation{Message: summary(findings)}
	case workspace.PlanMark:
		c.Mark(findings...)
	case workspace.PlanAllow:
	}
	return nil
}

// content returns what a plan says something about.
func content(c *decode.Call) []byte {
	if c.Type() == schemas.TypeIdentify || c.Type() == schemas.TypeGroup {
		return c.Traits()
	}
	return c.Properties()
}

// Violating returns how many calls violated the plan.
func (r *Review) Violating() int {
	if r == nil {
		return 0
	}
	return r.violating
}

// Action returns the action of the plan, "" where there is none.
func (r *Review) Action() workspace.PlanAction {
	if r == nil {
		return ""
	}
	return r.plan.action
}
