package definition

import "strconv"

// Leaves calls visit with each leaf of the tree and the path to it from c, such as
// "all[1].not", from left to right.
func (c *Cond) Leaves(visit func(path string, leaf *Leaf)) { c.walk("", visit) }

func (c *Cond) walk(path string, visit func(string, *Leaf)) {
	list := func(key string, conds []Cond) {
		for i := range conds {
			conds[i].walk(below(path, key+"["+strconv.Itoa(i)+"]"), visit)
		}
	}
	switch {
	case c.Leaf != nil:
		visit(path, c.Leaf)
	case c.Not != nil:
		c.Not.walk(below(path, "not"), visit)
	default:
		list("all", c.All)
		list("any", c.Any)
	}
}

func below(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}

func (c *Cond) leaves() int {
	n := 0
	c.Leaves(func(string, *Leaf) { n++ })
	return n
}
