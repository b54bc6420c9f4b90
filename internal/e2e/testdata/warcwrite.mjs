// Writes the responses of a WARC file into another one, as warcio.js writes them: node warcwrite.mjs MODULES FROM TO
import { createReadStream, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, from, to] = process.argv.slice(2);
const { WARCParser, WARCRecord, WARCSerializer } = await import(pathToFileURL(modules + "/warcio/dist/index.js"));
const warcVersion = "WARC/1.1";
const written = [await WARCSerializer.serialize(await WARCRecord.createWARCInfo({ filename: to, warcVersion }, { software: "warcio.js" }), { gzip: true })];
for await (const record of new WARCParser(createReadStream(from))) {
	if (record.warcType !== "response") continue;
	const body = await record.readFully(false);
	const { headers, statusline } = record.httpHeaders;
	const copy = WARCRecord.create({ url: record.warcTargetURI, date: record.warcDate, type: "response", warcVersion, httpHeaders: Object.fromEntries(headers), statusline }, [body]);
	written.push(await WARCSerializer.serialize(copy, { gzip: true }));
}
writeFileSync(to, Buffer.concat(written));
