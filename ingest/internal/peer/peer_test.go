package peer

import (
	"net/http"
	"net/netip"
	"testing"
)

var (
	someTrusted = []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("2001:db8:f::/48"),
		netip.MustParsePrefix("::ffff:172.16.0.0/108"),
	}
	proxy = "10.0.0.1:5000"
)

// request returns a request of a connection, with pairs of header names and
// values.
func request(connection string, headers ...string) *http.Request {
	r := &http.Request{RemoteAddr: connection, Header: make(http.Header)}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestAConnectionThatIsNotTrustedSpeaksForItself(t *testing.T) {
	for connection, want := range map[string]string{
		"203.0.113.7:40000":          "203.0.113.7",
		"[::ffff:203.0.113.7]:40000": "203.0.113.7",
		"[2001:db8::7]:40000":        "2001:db8::7",
		"[fe80::7%eth0]:40000":       "fe80::7",
	} {
		r := request(connection, "Forwarded", "for=1.1.1.1", "X-Forwarded-For", "1.1.1.1")
		if got := New(someTrusted).Of(r); got.String() != want {
			t.Errorf("%s: got %v, want %s", connection, got, want)
		}
	}
	if got := New(nil).Of(request(proxy, "X-Forwarded-For", "1.1.1.1")); got.String() != "10.0.0.1" {
		t.Errorf("no proxies are configured: got %v", got)
	}
	for _, connection := range []string{"", "@", "pipe", "1.2.3.4"} {
		if got := New(someTrusted).Of(request(connection)); got.IsValid() {
			t.Errorf("%q: got %v, want no address", connection, got)
		}
	}
}

func TestXForwardedFor(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"no header":                {nil, "10.0.0.1"},
		"one address":              {[]string{"203.0.113.7"}, "203.0.113.7"},
		"the client made one up":   {[]string{"1.1.1.1, 203.0.113.7"}, "203.0.113.7"},
		"two proxies":              {[]string{"1.1.1.1, 203.0.113.7, 10.9.9.9"}, "203.0.113.7"},
		"two lines":                {[]string{"1.1.1.1, 203.0.113.7", "10.9.9.9"}, "203.0.113.7"},
		"proxies only":             {[]string{"10.1.1.1, 10.2.2.2"}, "10.1.1.1"},
		"a proxy in mapped form":   {[]string{"203.0.113.7, ::ffff:10.2.2.2"}, "203.0.113.7"},
		"a mapped network":         {[]string{"203.0.113.7, 172.16.0.9"}, "203.0.113.7"},
		"a mapped client":          {[]string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		"a port":                   {[]string{"203.0.113.7:80"}, "203.0.113.7"},
		"IPv6":                     {[]string{"2001:db8::7"}, "2001:db8::7"},
		"IPv6 in brackets":         {[]string{"[2001:db8::7]"}, "2001:db8::7"},
		"IPv6 with a port":         {[]string{"[2001:db8::7]:443"}, "2001:db8::7"},
		"an IPv6 proxy":            {[]string{"203.0.113.7,2001:db8:f::1"}, "203.0.113.7"},
		"a zone":                   {[]string{"203.0.113.7, fe80::1%eth0"}, "10.0.0.1"},
		"unknown":                  {[]string{"203.0.113.7, unknown"}, "10.0.0.1"},
		"garbage behind a proxy":   {[]string{"203.0.113.7, %, 10.2.2.2"}, "10.2.2.2"},
		"garbage left of a client": {[]string{"<script>, 203.0.113.7"}, "203.0.113.7"},
		"empty elements":           {[]string{" , 203.0.113.7 ,, \t", ""}, "203.0.113.7"},
		"a port of six digits":     {[]string{"203.0.113.7:123456"}, "10.0.0.1"},
		"no port":                  {[]string{"203.0.113.7:"}, "10.0.0.1"},
		"IPv4 in brackets":         {[]string{"[203.0.113.7]"}, "10.0.0.1"},
		"an open bracket":          {[]string{"[2001:db8::7"}, "10.0.0.1"},
		"text behind a bracket":    {[]string{"[2001:db8::7]x"}, "10.0.0.1"},
		"octal":                    {[]string{"0203.0.0113.7"}, "10.0.0.1"},
	} {
		r := request(proxy)
		r.Header["X-Forwarded-For"] = c.lines
		if got := New(someTrusted).Of(r); got.String() != c.want {
			t.Errorf("%s: %q: got %v, want %s", name, c.lines, got, c.want)
		}
	}
}

func TestForwarded(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"a token":                     {[]string{`for=203.0.113.7`}, "203.0.113.7"},
		"the RFC's example":           {[]string{`for=192.0.2.60;proto=http;by=203.0.113.43`}, "192.0.2.60"},
		"the RFC's example with IPv6": {[]string{`For="[2001:db8:cafe::17]:4711"`}, "2001:db8:cafe::17"},
		"the RFC's list":              {[]string{`for=192.0.2.43, for=10.51.100.17`}, "192.0.2.43"},
		"two lines":                   {[]string{`for=1.1.1.1`, `for=203.0.113.7, for=10.2.2.2`}, "203.0.113.7"},
		"quoted IPv4 with a port":     {[]string{`for="203.0.113.7:80"`}, "203.0.113.7"},
		"unquoted port":               {[]string{`for=203.0.113.7:80`}, "203.0.113.7"},
		"an obfuscated port":          {[]string{`for="203.0.113.7:_p1"`}, "203.0.113.7"},
		"white space":                 {[]string{" \tproto=https ; for = 203.0.113.7\t"}, "203.0.113.7"},
		"an obfuscated client":        {[]string{`for=_hidden`}, "10.0.0.1"},
		"an obfuscated proxy":         {[]string{`for=203.0.113.7, for=_SEVKISEK, for=10.2.2.2`}, "10.2.2.2"},
		"unknown":                     {[]string{`for=unknown`}, "10.0.0.1"},
		"no for":                      {[]string{`for=1.1.1.1, proto=http;by=10.2.2.2`}, "10.0.0.1"},
		"two fors":                    {[]string{`for=1.1.1.1;for=203.0.113.7`}, "10.0.0.1"},
		"no value":                    {[]string{`for=`}, "10.0.0.1"},
		"no pair":                     {[]string{`203.0.113.7`}, "10.0.0.1"},
		"an escaped address":          {[]string{`for="203.0.113.\7"`}, "10.0.0.1"},
		"a comma in quotes":           {[]string{`for=1.1.1.1, for=203.0.113.7;host="a,b"`}, "203.0.113.7"},
		"a semicolon in quotes":       {[]string{`host="a;for=1.1.1.1";for=203.0.113.7`}, "203.0.113.7"},
		"an escaped quote":            {[]string{`for=1.1.1.1, host="a\",for=2.2.2.2";for=203.0.113.7`}, "203.0.113.7"},
		"an escaped backslash":        {[]string{`for=1.1.1.1, host="a\\";for=203.0.113.7`}, "203.0.113.7"},
		"the client's open quote":     {[]string{`for=1.1.1.1;host=", for=203.0.113.7`}, "203.0.113.7"},
		"an open quote, one proxy on": {[]string{`for=1.1.1.1;host=", for=203.0.113.7;by="_b", for=10.2.2.2`}, "203.0.113.7"},
		"the proxy's open quote":      {[]string{`for=1.1.1.1, for="203.0.113.7`}, "10.0.0.1"},
		"text behind a quote":         {[]string{`for="203.0.113.7"x`}, "10.0.0.1"},
		"a quote in a token":          {[]string{`for=203.0.113.7"`}, "10.0.0.1"},
		"another name's end":          {[]string{`xfor=203.0.113.7`}, "10.0.0.1"},
	} {
		r := request(proxy)
		r.Header["Forwarded"] = c.lines
		if got := New(someTrusted).Of(r); got.String() != c.want {
			t.Errorf("%s: %q: got %v, want %s", name, c.lines, got, c.want)
		}
	}
}

// TestBothHeaders has a client send the header that its proxy does not write.
func TestBothHeaders(t *testing.T) {
	for name, c := range map[string]struct{ forwarded, forwardedFor, want string }{
		"they agree":              {`for=203.0.113.7`, "203.0.113.7", "203.0.113.7"},
		"they agree in the end":   {`for=203.0.113.7;proto=https, for=10.2.2.2`, "1.1.1.1, 203.0.113.7", "203.0.113.7"},
		"a made-up Forwarded":     {`for=1.1.1.1`, "203.0.113.7", "10.0.0.1"},
		"a made-up X-Forwarded":   {`for=203.0.113.7`, "1.1.1.1", "10.0.0.1"},
		"a Forwarded for nothing": {`nonsense`, "203.0.113.7", "10.0.0.1"},
	} {
		r := request(proxy, "Forwarded", c.forwarded, "X-Forwarded-For", c.forwardedFor)
		if got := New(someTrusted).Of(r); got.String() != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	a := New(someTrusted)
	for name, r := range map[string]*http.Request{
		"no proxy":  request("203.0.113.7:40000"),
		"IPv6":      request("[2001:db8::7]:40000"),
		"a list":    request(proxy, "X-Forwarded-For", "1.1.1.1, 203.0.113.7, 10.2.2.2"),
		"Forwarded": request(proxy, "Forwarded", `for=1.1.1.1, for="[2001:db8::7]:80";host="a,b", for=10.2.2.2`),
	} {
		if n := testing.AllocsPerRun(100, func() { a.Of(r) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// FuzzOf holds the answer against what it may be at most: the connection, or an
// address that the headers spell; and nobody can add to the left of a header
// and change what it says.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{
		"", "203.0.113.7", "1.1.1.1, 203.0.113.7, 10.2.2.2", "[2001:db8::7]:80, ::ffff:10.0.0.1", "unknown", ",,",
		`for=192.0.2.60;proto=http;by=203.0.113.43`, `For="[2001:db8:cafe::17]:4711", for=10.2.2.2`,
		`for=1.1.1.1;host=", for=203.0.113.7`, `host="a\",for=2.2.2.2";for=203.0.113.7`, `for="203.0.113.7`, `\",`,
	} {
		f.Add(seed, "for=6.6.6.6")
		f.Add(seed, `6.6.6.6;x="`)
	}
	a := New(someTrusted)
	f.Fuzz(func(t *testing.T, header, claim string) {
		for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
			got := a.Of(request(proxy, name, header))
			if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
				t.Fatalf("%s: %q: got %v", name, header, got)
			}
			if a.Of(request("203.0.113.9:1", name, header)).String() != "203.0.113.9" {
				t.Fatalf("%s: %q: a stranger was believed", name, header)
			}
			// Once the walk has ended at a stranger, or at what can't be read, what
			// comes before does not count.
			if !a.trusts(got) && a.Of(request(proxy, name, claim+", "+header)) != got {
				t.Fatalf("%s: %q in front of %q changes %v", name, claim, header, got)
			}
		}
	})
}

func BenchmarkOf(b *testing.B) {
	a, r := New(nil), request("203.0.113.7:40000")
	b.ReportAllocs()
	for b.Loop() {
		a.Of(r)
	}
}
