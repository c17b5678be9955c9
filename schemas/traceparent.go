package schemas

// ValidTraceParent reports whether value is a trace context of the W3C's version
// 00 (Trace Context, "traceparent Header"): two digits of version, 32 of trace
// id, 16 of parent id, two of flags, all lower-case hexadecimal with hyphens in
// between, and neither id all zeros.
func ValidTraceParent[T ~string | ~[]byte](value T) bool {
	const trace, parent, flags = 3, 36, 53 // where each begins
	return len(value) == TraceParentBytes &&
		value[0] == '0' && value[1] == '0' && value[trace-1] == '-' && value[parent-1] == '-' && value[flags-1] == '-' &&
		isTraceID(value[trace:parent-1]) && isTraceID(value[parent:flags-1]) && isLowerHex(value[flags:])
}

// isTraceID reports whether the digits are an id: all zeros are none.
func isTraceID[T ~string | ~[]byte](digits T) bool {
	for i := range len(digits) {
		if digits[i] != '0' {
			return isLowerHex(digits)
		}
	}
	return false
}

func isLowerHex[T ~string | ~[]byte](digits T) bool {
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
