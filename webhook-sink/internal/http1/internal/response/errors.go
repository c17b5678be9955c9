package response

// MalformedError says that what came back is not a response to a POST.
type MalformedError struct{ what string }

// Error is one of a few texts.
func (e *MalformedError) Error() string { return "malformed response: " + e.what }

var (
	errStatusLine  = &MalformedError{"no status line of HTTP/1"}
	errField       = &MalformedError{"a header field can't be read"}
	errLength      = &MalformedError{"Content-Length is not a number"}
	errTwoLengths  = &MalformedError{"two lengths"}
	errEncoding    = &MalformedError{"Transfer-Encoding other than chunked"}
	errHeadTooLong = &MalformedError{"header of more than 64 KiB"}
	errTooManyInfo = &MalformedError{"more than eight informational responses"}
	errSwitching   = &MalformedError{"it switches protocols"}
)
