package judge

// body is the body of a delivery (spec.md, Webhook delivery bodies).
type body map[string]any

// mark is the name of the call that it is of.
func (b body) mark() string {
	for _, member := range []string{"properties", "traits"} {
		if object, ok := b[member].(map[string]any); ok {
			if mark, ok := object["call"].(string); ok {
				return mark
			}
		}
	}
	mark, _ := b["Previous ID"].(string)
	return mark
}
