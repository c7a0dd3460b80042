/** A file's text, without its byte order mark; Windows PowerShell redirects output as UTF-16. */
export const fileText = (bytes: Buffer): string =>
  bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? "utf16le" : "utf8").replace(/^\uFEFF/, "");
