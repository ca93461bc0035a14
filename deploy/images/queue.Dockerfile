# proj-queue. The context is a folder with the tarball of the program as program.tgz, and health.mjs: see docs/DEPLOY.md.
ARG BASE=node:22-bookworm-slim

FROM ${BASE} AS install
ARG NPM_FLAGS=""
WORKDIR /opt/proj
COPY program.tgz /tmp/program.tgz
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund --no-update-notifier ${NPM_FLAGS} /tmp/program.tgz \
    && install -d -m 0750 /opt/state

FROM ${BASE}
COPY --from=install /opt/proj /opt/proj
COPY --from=install --chown=65532:65532 /opt/state /var/lib/proj
COPY health.mjs /opt/proj/health.mjs
ENV PROJ_QUEUE_RECEIVE=tcp://*:11131 \
    PROJ_QUEUE_SEND=tcp://*:11132 \
    PROJ_QUEUE_MONITOR=tcp://*:11133 \
    PROJ_QUEUE_STORE=lmdb:/var/lib/proj/queue \
    PROJ_QUEUE_HTTP=127.0.0.1:8055
EXPOSE 11131 11132 11133
VOLUME /var/lib/proj
# What glibc frees goes back to the system: docs/adr/0026-one-budget-of-memory.md.
ENV MALLOC_MMAP_THRESHOLD_=16384
WORKDIR /opt/proj
USER 65532:65532
# The program handles SIGTERM as the first process: it drains, then ends.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["node", "/opt/proj/health.mjs", "healthz"]
ENTRYPOINT ["node", "/opt/proj/node_modules/@proj/app-queue/dist/main.js"]
