import { expect, test } from "vitest";
import { readXml } from "./xml.ts";

test("elements are read with their text, without prefixes and attributes", () => {
  const xml =
    '<?xml version="1.0"?>\n<s:a xmlns:s="x"><b c="d">1 &lt; <![CDATA[<2>]]> &#62;</b><!-- none --><b/></s:a>\n';
  expect(readXml(xml)).toEqual({
    name: "a",
    text: "",
    inside: [
      { name: "b", text: "1 < <2> >", inside: [] },
      { name: "b", text: "", inside: [] },
    ],
  });
});

const nonsense = [
  "",
  "a",
  "<a>",
  "<a></b>",
  "<a/><b/>",
  "<a/>b",
  '<!DOCTYPE a [<!ENTITY b "c">]><a/>',
  "<a>&b;</a>",
  "<a>&#0;</a>",
  "<a>b & c</a>",
];
test.each(nonsense)("what is not XML is not read: %s", (xml) => {
  expect(readXml(xml)).toBeUndefined();
});
