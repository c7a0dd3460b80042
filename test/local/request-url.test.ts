import { expect, it } from "vitest";
import { requestUrl } from "../../local/http-server.ts";

it("reads path and query", () => {
  const { pathname, searchParams } = requestUrl({ url: "/api/v1/nodes?watch=1" });
  expect([pathname, searchParams.get("watch")]).toEqual(["/api/v1/nodes", "1"]);
});

it.each(["//", "///", "http://", "//[", "*"])("takes %j for an address, whatever it is", (url) => {
  expect(requestUrl({ url })).toBeInstanceOf(URL);
});
