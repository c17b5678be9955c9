package timestamp

// scanner reads a text of fixed fields from the front. Once something was not
// as expected it stays bad, and what it returns means nothing.
type scanner struct {
	rest []byte
	bad  bool
}

func (s *scanner) clock() (c clock) {
	s.separator()
	c.hour = s.digits(2)
	s.take(':')
	c.minute = s.digits(2)
	// Java prints no seconds when they are zero.
	if s.found(':') {
		c.second = s.digits(2)
		if s.found('.') {
			c.milli = s.decimals()
		}
	}
	s.zone(&c)
	return c
}

func (s *scanner) separator() {
	if !s.found('T') && !s.found('t') && !s.found(' ') {
		s.bad = true
	}
}

func (s *scanner) zone(c *clock) {
	switch {
	case len(s.rest) == 0: // UTC
	case s.found('Z') || s.found('z'):
	default:
		c.west = s.rest[0] == '-'
		if !s.found('+') {
			s.take('-')
		}
		c.zoneHour = s.digits(2)
		s.found(':')
		c.zoneMinute = s.digits(2)
	}
	s.bad = s.bad || len(s.rest) > 0
}

// decimals reads one to nine digits behind a point.
func (s *scanner) decimals() (milli int) {
	before := len(s.rest)
	milli = s.fraction(3)
	for len(s.rest) > 0 && isDigit(s.rest[0]) {
		s.rest = s.rest[1:]
	}
	if n := before - len(s.rest); n < 1 || n > 9 {
		s.bad = true
	}
	return milli
}

// fraction reads up to n digits and returns them as if there were n.
func (s *scanner) fraction(n int) int {
	value := 0
	for range n {
		value *= 10
		if len(s.rest) > 0 && isDigit(s.rest[0]) {
			value += int(s.rest[0] - '0')
			s.rest = s.rest[1:]
		}
	}
	return value
}

// digits reads exactly n digits.
func (s *scanner) digits(n int) int {
	if len(s.rest) < n {
		s.bad = true
		return 0
	}
	value := 0
	for _, c := range s.rest[:n] {
		s.bad = s.bad || !isDigit(c)
		value = value*10 + int(c-'0')
	}
	s.rest = s.rest[n:]
	return value
}

// take reads c and nothing else.
func (s *scanner) take(c byte) {
	if !s.found(c) {
		s.bad = true
	}
}

// found reads c if it is next.
func (s *scanner) found(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
