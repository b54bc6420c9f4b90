// Reads WARC files with warcio.js, and checks the digests of their records. Each revisit must refer to a response in
// one of the files. It prints the number of records and revisits, and then the index entries that warcio.js makes of
// the files.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, ...files] = process.argv.slice(2);
const { CDXIndexer, WARCParser } = await import(pathToFileURL(modules + "/warcio/dist/index.js"));
const digest = (bytes) => "sha256:" + createHash("sha256").update(bytes).digest("hex");
const at = (url, date) => url + " " + date.slice(0, "2006-01-02T15:04:05".length);
let records = 0;
const answers = new Set(), revisits = [];
for (const file of files) {
	for await (const record of new WARCParser(createReadStream(file), { parseHttp: false })) {
		const block = Buffer.from(await record.readFully(false));
		const said = (name) => record.warcHeader("WARC-" + name);
		const fail = (what) => { console.error(file, record.warcType, record.warcTargetURI, what); process.exitCode = 1 };
		records++;
		if (record.warcType === "response") answers.add(said("Record-ID")).add(at(record.warcTargetURI, said("Date")));
		if (record.warcType === "revisit") revisits.push([said("Refers-To"), fail], [at(said("Refers-To-Target-URI"), said("Refers-To-Date")), fail]);
		if (said("Block-Digest") !== digest(block)) fail("has another block digest");
		if (!said("Record-ID") || !said("Date") || block.length !== record.warcContentLength) fail("lacks a field, or a part of its block");
		const payload = record.warcContentType?.startsWith("application/http") ? block.subarray(block.indexOf("\r\n\r\n") + 4) : block;
		if (said("Payload-Digest") && record.warcType !== "revisit" && said("Payload-Digest") !== digest(payload)) fail("has another payload digest");
	}
}
for (const [to, fail] of revisits) if (to && !answers.has(to)) fail("refers to nothing: " + to);
console.log(records + " records, " + revisits.length / 2 + " revisits");
const entries = [];
for await (const e of new CDXIndexer({ noSurt: false }).iterIndex(files.map((f) => ({ filename: basename(f), reader: createReadStream(f) })))) {
	const indexed = e.mime !== "warc/revisit" ? e.status : "";
	entries.push([e.filename, e.offset, e.length, e.url, e.mime, indexed ?? "", e.method ?? "", e.requestBody ?? ""].join(" "));
}
console.log(entries.sort().join("\n"));
