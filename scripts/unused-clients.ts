import type { Plugin } from "esbuild";

/** What client-node imports of packages that nothing here calls. */
const unusedNames = ["Agent", "ProxyAgent", "SocksProxyAgent", "SocksClient", "fetch"];

/**
 * client-node does not declare its modules free of side effects, so a bundler must keep its generated clients
 * of the whole Kubernetes API. The command line reads kubeconfigs with it and nothing else.
 */
export const withoutUnusedClients: Plugin = {
  name: "without-unused-clients",
  setup({ onResolve, onLoad, resolve }) {
    // For its own requests and for SOCKS proxies, which the command line refuses.
    onResolve({ filter: /^(undici|socks|socks-proxy-agent)$/ }, ({ path, importer }) =>
      importer.includes("/@kubernetes/client-node/") ? { path, namespace: "unused" } : undefined,
    );
    onLoad({ filter: /./, namespace: "unused" }, ({ path }) => ({
      contents: `
        const unused = () => { throw new Error("${path} is not part of this package"); };
        export { ${unusedNames.map((name) => `unused as ${name}`).join(", ")} };`,
    }));
    onResolve(
      { filter: /^\.|^@kubernetes\/client-node$/ },
      async ({ path, importer, resolveDir, kind, pluginData }) => {
        const isOurs = path === "@kubernetes/client-node" || importer.includes("/@kubernetes/client-node/");
        if (!isOurs || pluginData === "resolved") return undefined;
        const found = await resolve(path, { importer, resolveDir, kind, pluginData: "resolved" });
        return { ...found, sideEffects: false };
      },
    );
  },
};
