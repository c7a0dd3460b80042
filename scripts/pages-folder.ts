import { join } from "node:path";

/** Where a command puts the page it writes: among the documents, unless `--into FOLDER` names another place. */
export const pagesFolder = (into?: string): string => into ?? join(import.meta.dirname, "../docs");
