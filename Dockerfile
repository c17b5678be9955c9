# One image for every stage and command: a static binary, the roots of TLS, and
# nothing else. There is no shell; `anabranch healthcheck` is what probes run.
#
# VERSION is what `anabranch version` and the metrics call it, as in
# "docker build --build-arg VERSION=v1.2.3". GO_IMAGE may name a mirror's copy; it
# needs the Go that go.mod names, a shell and the roots. Nothing here needs BuildKit.
ARG GO_IMAGE=golang:1.26.5-bookworm@sha256:1ecb7edf62a0408027bd5729dfd6b1b8766e578e8df93995b225dfd0944eb651

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# A volume that is mounted there is its user's.
RUN mkdir /data
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -o /anabranch \
  -ldflags="-s -w -X github.com/anabranch/anabranch/internal/app.release=${VERSION}" ./cmd/anabranch

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /anabranch /anabranch
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s CMD ["/anabranch", "healthcheck"]
ENTRYPOINT ["/anabranch"]
