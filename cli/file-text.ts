import { createReadStream } from "node:fs";

/** A file's text, without its byte order mark. */
export const fileText = (bytes: Buffer): string => new TextDecoder(encodingOf(bytes)).decode(bytes);

/** The same, piece by piece. */
export async function* textIn(file: string): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const bytes of createReadStream(file)) {
    decoder ??= new TextDecoder(encodingOf(bytes));
    yield decoder.decode(bytes, { stream: true });
  }
}

/** Windows PowerShell redirects output as UTF-16, other programs without a mark. Text as we read it begins with ASCII. */
function encodingOf([first, second]: Buffer): string {
  if ((first === 0xff && second === 0xfe) || (first && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second) ? "utf-16be" : "utf-8";
}
