// Package cors tells browsers that any page may send calls and read the answers
// (protocol, 5).
//
// That is safe because nothing here depends on who the browser's user is: the
// right to send is in the write key, which stands in the page for everybody to
// read, and no cookie is looked at. So the page's origin is echoed and credentials
// are allowed: an SDK that is told to send cookies along, and every beacon, is
// refused by the browser otherwise, and "*" does not count for them. The headers
// that an SDK asks for are echoed too; a fixed list breaks the next version of one.
package cors
