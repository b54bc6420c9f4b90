# Builds an image that contains only a static binary, and does not run it as root:
#
#	docker build --build-arg VERSION=v1.2.3 -t skink .
#	docker run --rm -v skink:/data skink crawl https://example.org/
#
# The target browser adds Chromium, for --render. Its sandbox needs namespaces, which Docker refuses by default:
#
#	docker build --target browser -t skink:browser .
#	docker run --rm --security-opt seccomp=unconfined -v skink:/data skink:browser crawl --render auto https://example.org/
#
# The store is /data/skink-data, unless the variable SKINK_STORE names another. The container is healthy while this
# store can be read. If you name the store with --store instead, add --no-healthcheck.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -buildid= -X skink/internal/cli.version=$VERSION" -o /skink .
RUN mkdir -p /root-of-image/data /root-of-image/tmp && chmod 1777 /root-of-image/tmp && chown 65532:65532 /root-of-image/data

FROM debian:13-slim AS browser
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates chromium-headless-shell fonts-noto-core && rm -rf /var/lib/apt/lists/*
COPY --from=build /root-of-image /
COPY --from=build /skink /usr/bin/skink
ENV HOME=/data
USER 65532:65532
WORKDIR /data
VOLUME /data
HEALTHCHECK --interval=1m --start-period=1m CMD ["/usr/bin/skink", "status"]
ENTRYPOINT ["/usr/bin/skink"]
CMD ["help"]

FROM scratch
COPY --from=build /root-of-image /
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /skink /usr/bin/skink
ENV HOME=/data
USER 65532:65532
WORKDIR /data
VOLUME /data
HEALTHCHECK --interval=1m --start-period=1m CMD ["/usr/bin/skink", "status"]
ENTRYPOINT ["/usr/bin/skink"]
CMD ["help"]
