# syntax=docker/dockerfile:1
# For those who have a container engine; make images needs none. The target is the
# command:
#
#   docker build --target scheduler -t registry.example/regex-scheduling/scheduler:dev .

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS source
WORKDIR /src
COPY go.mod go.sum ./
COPY regex/go.mod regex/go.sum regex/
COPY compat/scenario/go.mod compat/scenario/go.sum compat/scenario/
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN mkdir -p /root-fs/etc/ssl/certs /root-fs/tmp \
 && cp /etc/ssl/certs/ca-certificates.crt /root-fs/etc/ssl/certs/ \
 && echo 'nonroot:x:65532:65532:nonroot:/tmp:/nologin' >/root-fs/etc/passwd \
 && echo 'nonroot:x:65532:' >/root-fs/etc/group \
 && chmod 1777 /root-fs/tmp

FROM source AS build
ARG TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    make binaries ARCH=$TARGETARCH && mv bin/linux-$TARGETARCH /out

FROM scratch AS base
COPY --from=source /root-fs /
USER 65532:65532

FROM base AS simulator
COPY --from=build /out/simulator /
ENTRYPOINT ["/simulator"]

FROM base AS static-webserver
COPY --from=build /out/static-webserver /
ENTRYPOINT ["/static-webserver"]

FROM base AS extender
COPY --from=build /out/extender /
ENTRYPOINT ["/extender"]

FROM base AS scheduler
COPY --from=build /out/scheduler /
ENTRYPOINT ["/scheduler"]
