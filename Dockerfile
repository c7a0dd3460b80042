# The command line alone, from a folder that has the published package's files (after `npm run build`, this one). There is
# no RUN, so that one machine can build it for every processor.
FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
ENV NODE_ENV=production HOME=/app PATH=/app/bin:$PATH
WORKDIR /app
COPY package.json LICENSE ./
COPY dist/THIRD-PARTY-LICENSES dist/
COPY dist/cli dist/cli
COPY --chmod=755 cli/bin.js bin/karpenter-node-holder
USER 65532:65532
ENTRYPOINT ["karpenter-node-holder"]
