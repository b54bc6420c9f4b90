package markup

// A Check describes one kind of fault.
type Check struct {
	Fault Fault
	Name  string // name of the finding in an audit, such as "images.alt"; must never change
	Finds string // description of the fault, and of the cases that do not count as faults
}

// Checks lists all faults that [Read] finds, and those that a reader of the response header adds.
// The file testdata/checks.txtar has two pages for each fault that Read finds: one with the fault,
// and one that narrowly avoids it.
var Checks = []Check{
	{ImageAlt, "images.alt", "an <img> without an alt attribute or another accessible name; one-pixel images, hidden images and images in <noscript> are not counted"},
	{ImageSize, "images.size", "an <img> without width or height, and without a size in its style; one-pixel images, hidden images and images in <noscript> are not counted"},
	{ImageAltLong, "images.long-alt", "an <img> whose alt attribute has more than 125 characters"},
	{NoViewport, "markup.viewport", "a page without <meta name=viewport>"},
	{NoLang, "markup.lang", "a page whose <html> element has no lang attribute"},
	{OtherLanguage, "markup.language", "a page whose text is certainly in a language other than the declared one, if skink knows both languages"},
	{SentAsText, "markup.type", "a page that begins with <!doctype html> or <html> and is sent as text/plain"},
	{IDRepeated, "markup.ids", "an id that several elements have; ids inside SVG images and templates are not counted"},
	{FrameTitle, "markup.frames", "an <iframe> without a title or aria-label; hidden frames and frames in <noscript> are not counted"},
	{NoDoctype, "markup.doctype", "a page without <!doctype>"},
	{Reload, "markup.refresh", "a <meta http-equiv=refresh> or a Refresh header that loads the page again, or another page after more than ten seconds; <noscript> is not counted"},
	{SeveralTitles, "titles.several", "a page with more than one <title>; the titles of SVG images are not counted"},
	{SeveralDescriptions, "descriptions.several", "a page with more than one <meta name=description> that has content"},
	{HeadingSkipped, "headings.skipped", "a heading more than one level below the heading before it"},
	{CanonicalInBody, "canonicals.body", "a <link rel=canonical> in <body>, unless <head> has a <noscript>, because browsers that run scripts parse such a page differently"},
	{CanonicalScheme, "canonicals.scheme", "a <link rel=canonical> whose URL has a scheme other than http or https"},
	{CanonicalRelative, "canonicals.relative", "a <link rel=canonical> whose URL has no scheme and no host"},
	{LinkEmpty, "links.empty", "an <a href> without any text, alternative text, aria-label or title; hidden links and links that scripts handle are not counted. If a link contains another link, HTML parsers split it, and one part is empty"},
	{LinkScheme, "links.scheme", "an <a href> with a misspelled scheme that consists of the letters of http and https"},
	{LinkVague, "links.vague", "an <a href> whose only text is a phrase such as \"click here\", in English, German, French or Spanish"},
	{LinkFragment, "links.fragments", "an <a href=\"#part\"> if no element has this id; links that scripts handle and routes such as #/part are not counted"},
	{LinkLocal, "links.local", "an <a href> to localhost, 127.0.0.1 or file:"},
	{LinkSession, "urls.session", "an <a href> with a session id: jsessionid, phpsessid or aspsessionid"},
	{DataInvalid, "structured.invalid", "a JSON-LD script that is not valid JSON"},
	{DataIncomplete, "structured.incomplete", "a schema.org object in JSON-LD that lacks a property that Google requires for its type"},
	{SharingIncomplete, "sharing.incomplete", "a page that has some Open Graph data, but not all of og:title, og:type, og:image and og:url"},
	{SharingRelative, "sharing.relative", "an og:image or og:url whose value does not begin with http:// or https://"},
	{SharingCard, "sharing.card", "a twitter:card with a value other than summary, summary_large_image, app or player"},
	{InsecureFile, "security.mixed", "a file that browsers load over http on an https page, unless the page sets the policy upgrade-insecure-requests"},
	{InsecureForm, "security.form", "a form on an https page that is submitted over http"},
	{Password, "security.password", "a password field on an http page"},
	{ButtonEmpty, "forms.button", "a button without any text, alternative text, aria-label, title or label; hidden buttons, and buttons whose text scripts bind, are not counted"},
	{FieldLabel, "forms.label", "a form field without a label, aria-label, title or aria-describedby; hidden fields are not counted"},

	{NoHSTS, "security.hsts", "an https response without Strict-Transport-Security"},
	{NoCSP, "security.csp", "a response with no Content-Security-Policy in the header or in <meta>"},
	{NoSniff, "security.nosniff", "a response without the header X-Content-Type-Options: nosniff"},
	{NoReferrerPolicy, "security.referrer", "a response with no Referrer-Policy in the header or in <meta>"},
	{NoFraming, "security.framing", "a response without X-Frame-Options, and without frame-ancestors in its Content-Security-Policy"},
	{Uncompressed, "transfer.uncompressed", "a response of more than 1,400 bytes without Content-Encoding"},
	{Uncacheable, "transfer.uncacheable", "a response with no-store, or a response with neither a validator (ETag, Last-Modified) nor a freshness lifetime"},
}
