import type { Readable } from "node:stream";

/** Many times the largest page of nodes; more than this is no answer to anything we ask. */
export const longestAnswer = 64 * 1024 * 1024;

/** A body was larger than any we expect; trying again would only read it again. */
export class TooLongError extends Error {}

/** A body as text; one that has no end is not read to it. */
export function limitedText(body: Readable, most = longestAnswer): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    body.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > most) body.destroy(new TooLongError(`the body is longer than ${most} bytes`));
      else pieces.push(piece);
    });
    body.once("end", () => resolve(Buffer.concat(pieces).toString()));
    body.once("error", reject);
  });
}
