package peer

import (
	"net/netip"
	"strings"
)

// space is what may stand around the elements of a list (RFC 9110, 5.6.3).
const space = " \t"

// lastOfList cuts the last element off a list that knows no quotes.
func lastOfList(list string) (rest, last string) {
	comma := strings.LastIndexByte(list, ',')
	return list[:max(comma, 0)], strings.Trim(list[comma+1:], space)
}

// lastElement cuts the last element off a Forwarded header, where a comma may
// stand in a quoted string. It reads from the end, so that a quote that a client
// has left open does not swallow what the proxy has added behind it: the open
// quote is then part of the element before.
func lastElement(list string) (rest, last string) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch {
		case list[i] == '"' && (!quoted || !escaped(list, i)):
			quoted = !quoted
		case list[i] == ',' && !quoted:
			return list[:i], strings.Trim(list[i+1:], space)
		}
	}
	return "", strings.Trim(list, space)
}

// escaped reports whether the character at i has a backslash that is meant for it.
func escaped(s string, i int) bool {
	slashes := 0
	for i > slashes && s[i-1-slashes] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}

// readElement returns the address of an element's "for" parameter. It is false
// when there is none or there are two, when it says unknown or is an obfuscated
// name, and when the element is not well formed.
func readElement(element string) (addr netip.Addr, ok bool) {
	for element != "" {
		name, rest, found := strings.Cut(element, "=")
		if !found {
			return netip.Addr{}, false
		}
		var value string
		if value, element, found = cutValue(rest); !found {
			return netip.Addr{}, false
		}
		if !strings.EqualFold(strings.Trim(name, space), "for") {
			continue
		}
		if ok {
			return netip.Addr{}, false
		}
		if addr, ok = readAddress(value); !ok {
			return netip.Addr{}, false
		}
	}
	return addr, ok
}

// cutValue returns the value of a parameter, without its quotes, and what comes
// behind the semicolon that ends it. An address needs no escapes, so one that
// has them is not read as one; the other values are not looked at.
func cutValue(s string) (value, rest string, ok bool) {
	if s = strings.TrimLeft(s, space); !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		value = strings.TrimRight(value, space)
		return value, rest, value != "" && !strings.Contains(value, `"`)
	}
	end := 1
	for end < len(s) && (s[end] != '"' || escaped(s[:end], end)) {
		end++
	}
	if end == len(s) {
		return "", "", false
	}
	value, rest = s[1:end], strings.TrimLeft(s[end+1:], space)
	if rest == "" {
		return value, "", true
	}
	rest, ok = strings.CutPrefix(rest, ";")
	return value, rest, ok
}

// readAddress reads an address with or without a port: 192.0.2.1, 192.0.2.1:80,
// 2001:db8::1, [2001:db8::1], [2001:db8::1]:80. The port may be an obfuscated
// one (RFC 7239, 6.3). A zone has no meaning here and is refused.
func readAddress(s string) (netip.Addr, bool) {
	host, port, ok := s, "", true
	if strings.HasPrefix(s, "[") {
		host, port, ok = strings.Cut(s[1:], "]")
		ok = ok && strings.Contains(host, ":")
	} else if strings.Count(s, ":") == 1 {
		i := strings.IndexByte(s, ':')
		host, port = s[:i], s[i:]
	}
	if !ok || !isPort(port) || strings.Contains(host, "%") {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(host)
	return addr.Unmap(), err == nil
}

// isPort reports whether s is empty or a colon and a port.
func isPort(s string) bool {
	if s == "" {
		return true
	}
	const digits = "0123456789"
	name, ok := strings.CutPrefix(s, ":")
	if hidden, found := strings.CutPrefix(name, "_"); found {
		return ok && hidden != ""
	}
	return ok && name != "" && len(name) <= 5 && strings.Trim(name, digits) == ""
}
