import type { Plugin } from "esbuild";

/**
 * client-node does not declare its modules free of side effects, so a bundler must keep its generated clients
 * of the whole Kubernetes API. The command line reads kubeconfigs with it and nothing else.
 */
export const withoutUnusedClients: Plugin = {
  name: "without-unused-clients",
  setup({ onResolve, resolve }) {
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
