// Package post makes one POST to one endpoint and says how it ended.
//
// It never follows a redirect, asks no proxy but that of WEBHOOK_SINK_PROXY (package proxy), never decompresses, and never
// repeats a request of which a single byte may have left the machine: trying
// again is for the caller, who keeps count. The status line alone decides the
// verdict; what comes after it is read within narrow limits, so that the
// connection can be used again, and then forgotten.
//
// Endpoints are spoken to over HTTP/1.1, by package http1. One that refuses that
// protocol in its TLS handshake gets the same attempt over HTTP/2, by net/http, and
// those that follow within the hour.
//
// # Files
//
//	client                 what both ways to an endpoint share
//	http2, meter           the second, and what may be read on it
//	target                 an endpoint made ready for requests
//	status                 what a response means
//	failure, certificate   what the lack of one means
//	sign                   X-Signature
//
// # Non-obvious
//
//   - A certificate that names its own subject as its issuer may still be one of an authority: of that name. What counts is
//     whose key made the signature (TestCertificates).
//   - x509 says of a certificate over SHA-1 that its authority is unknown, which sends its owner to look for roots
//     (TestCertificates).
//   - A 302 of a POST, followed with an empty GET, would count its 200 as a delivery:
//     redirects are final (TestRedirectsAreNotFollowed).
//   - net/http is for endpoints that refuse HTTP/1.1 by a TLS alert
//     (TestEndpointsThatSpeakHTTP2Alone). Its requests have no GetBody, or it would
//     repeat them after a PROTOCOL_ERROR, and what it may read is metered, or it would
//     read floods of frames for ever (TestMisbehavingHTTP2). It would send a POST with an
//     Idempotency-Key header again, so that is refused as a static header (TestRules in
//     package rules).
//   - net/http prints what an idle connection receives to the standard logger, and a
//     receiver may echo secrets there: our own client never uses a connection again on
//     which anything arrived unasked (TestReceiversAreNotQuoted,
//     TestForgedResponsesAreNeverTaken in package http1).
//   - A certificate over SHA-1 that its own key has signed is verified by hand, to be
//     refused as self-signed (TestWeaklySelfSignedCertificates). One hides behind an
//     expired or misnamed one too: it is looked for in the unverified chain, and in
//     chains that verify because someone put it among the roots (TestCertificates).
package post
