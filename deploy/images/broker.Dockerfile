# proj-broker. The context is a folder with the tarball of the program as program.tgz, and health.mjs: see docs/DEPLOY.md.
ARG BASE=node:22-bookworm-slim

FROM ${BASE} AS install
ARG NPM_FLAGS=""
WORKDIR /opt/proj
COPY program.tgz /tmp/program.tgz
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund --no-update-notifier ${NPM_FLAGS} /tmp/program.tgz \
    && install -d -m 0750 /opt/state

FROM ${BASE}
COPY --from=install /opt/proj /opt/proj
COPY health.mjs /opt/proj/health.mjs
ENV PROJ_BROKER_MDP=tcp://*:5555 \
    PROJ_BROKER_PPP_FRONTEND=tcp://*:5556 \
    PROJ_BROKER_PPP_BACKEND=tcp://*:5557 \
    PROJ_BROKER_ONLY=mdp,nfp,ppp \
    PROJ_BROKER_HTTP=127.0.0.1:8055
EXPOSE 5555 5556 5557
# What glibc frees goes back to the system: docs/adr/0026-one-budget-of-memory.md.
ENV MALLOC_MMAP_THRESHOLD_=16384
WORKDIR /opt/proj
USER 65532:65532
# The program handles SIGTERM as the first process: it drains, then ends.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["node", "/opt/proj/health.mjs", "healthz"]
ENTRYPOINT ["node", "/opt/proj/node_modules/@proj/app-broker/dist/main.js"]
