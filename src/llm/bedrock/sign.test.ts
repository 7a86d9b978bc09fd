import { expect, test } from "vitest";
import { signed } from "./sign.ts";

// the first example of Amazon's test suite for version 4: get-vanilla
test("signed() signs as Amazon's example does", () => {
  const keys = { id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", session: "" };
  const atMs = Date.UTC(2015, 7, 30, 12, 36);
  const request = { method: "GET", url: new URL("https://example.amazonaws.com/"), body: "" } as const;
  expect(signed(request, { keys, region: "us-east-1", service: "service", atMs })).toEqual({
    "x-amz-date": "20150830T123600Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, " +
      "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  });
});
