# The official Swift image builds, Debian 13 runs: it has libheif with the security fixes of 2026.
#
#   docker build -t safelight .
#   docker run --read-only -p 127.0.0.1:8080:8080 -v safelight-data:/data safelight
#
# Anyone who reaches the port is served (`--allow-anonymous`): publish it to loopback or to your own gateway.
FROM swift:6.3-bookworm AS build
WORKDIR /src
# The libraries stand in a layer of their own, kept until scripts/setup changes.
COPY scripts/setup scripts/
RUN scripts/setup && rm -rf /var/lib/apt/lists/*
COPY Package.swift openapi.yaml ./
COPY Tests Tests
COPY Sources Sources
RUN swift build -c release --static-swift-stdlib --product safelight \
    && swift build -c release --static-swift-stdlib --product safelight-worker \
    && install -D --strip --target-directory /programs .build/release/safelight .build/release/safelight-worker

FROM debian:trixie-slim
# Versions are not pinned: each build shall have Debian's newest security fixes.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libheif1 libheif-plugin-ffmpegdec libheif-plugin-libde265 \
        libturbojpeg0 libjpeg62-turbo libexif12 libzimg2 liblcms2-2 \
        libmicrohttpd12t64 libssl3t64 libseccomp2 libstdc++6 \
    && rm -rf /var/lib/apt/lists/*
# By number, so that Kubernetes can see that it is not root.
RUN groupadd --gid 10001 safelight \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin safelight \
    && install -d -o 10001 -g 10001 -m 0750 /data
COPY --from=build /programs/ /usr/local/bin/
# Built on Debian 12: every library must be here under the same name.
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN ldd /usr/local/bin/safelight /usr/local/bin/safelight-worker | awk '/not found/ { print; missing = 1 } END { exit missing }'

USER 10001:10001
# Nothing is written elsewhere, so the root may be read-only.
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Variables and not flags, so that `docker run -e` can change them.
ENV SAFELIGHT_LISTEN=0.0.0.0:8080 SAFELIGHT_STORE=/data
ENTRYPOINT ["safelight"]
CMD ["serve", "--allow-anonymous"]
# Alive, not ready: a restart does not mend a full disk.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${SAFELIGHT_LISTEN##*:} && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]

ARG VERSION=unreleased REVISION=unknown
LABEL org.opencontainers.image.title="Safelight" \
      org.opencontainers.image.description="Raw HEIC or JPEG in; an upright, private, universally readable JPEG out, stored" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
