# Builds an image that contains only a static binary, and does not run it as root:
#
#	docker build --build-arg VERSION=v1.2.3 -t skink .
#	docker run --rm -v skink:/data skink crawl https://example.org/
#
# The store is /data/skink-data unless --store names another.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -buildid= -X skink/internal/cli.version=$VERSION" -o /skink .
RUN mkdir -p /root-of-image/data /root-of-image/tmp && chmod 1777 /root-of-image/tmp && chown 65532:65532 /root-of-image/data

FROM scratch
COPY --from=build /root-of-image /
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /skink /usr/bin/skink
USER 65532:65532
WORKDIR /data
VOLUME /data
ENTRYPOINT ["/usr/bin/skink"]
CMD ["help"]
