/** Many times the largest page of nodes; more than this is no answer to anything we ask. */
export const longestAnswer = 64 * 1024 * 1024;

/** A body was larger than any answer is; trying again would only read it again. */
export class TooLongError extends Error {}

/** A body as text; one that has no end is not read to it. */
export async function limitedText(body: AsyncIterable<Uint8Array>, most = longestAnswer): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) throw new TooLongError(`the answer is longer than ${most} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
