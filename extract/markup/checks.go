package markup

// A Check is a row of [Checks].
type Check struct {
	Fault Fault
	Name  string // name of the finding in an audit, such as "images.alt"; a stored number keeps its name
	Finds string // description of a page with the fault, and of the cases that are left out
}

// Checks are all faults that [Read] finds, and those that a reader of the answer's header adds. The
// file testdata/checks.txtar has two pages for each fault that Read finds: one with the fault and one
// that comes close to it.
var Checks = []Check{
	{ImageAlt, "images.alt", "an <img> without alt, and without another name; except pictures of one pixel, hidden ones, and those in <noscript>"},
	{ImageSize, "images.size", "an <img> without width or height, and without a size in its style; except as for images.alt"},
	{NoViewport, "markup.viewport", "no <meta name=viewport>"},
	{NoLang, "markup.lang", "no lang on <html>"},
	{NoDoctype, "markup.doctype", "no <!doctype>"},
	{SeveralTitles, "titles.several", "more than one <title>; those of drawings do not count"},
	{SeveralDescriptions, "descriptions.several", "more than one <meta name=description> with a content"},
	{HeadingSkipped, "headings.skipped", "a heading more than one level below the heading before it"},
	{CanonicalInBody, "canonicals.body", "a <link rel=canonical> in <body>; except if <head> has a <noscript>, because browsers that run scripts read such a page otherwise"},
	{CanonicalScheme, "canonicals.scheme", "a <link rel=canonical> with a scheme other than http and https"},
	{CanonicalRelative, "canonicals.relative", "a <link rel=canonical> without scheme and host"},
	{LinkEmpty, "links.empty", "an <a href> without text, alternative text, aria-label and title; except links that scripts handle. HTML parsers make an empty link of a link with a link inside"},
	{LinkVague, "links.vague", "an <a href> whose only text is one such as \"click here\", in English, German, French or Spanish"},
	{LinkFragment, "links.fragments", "an <a href=\"#part\"> without an element of this id; except links that scripts handle, and routes such as #/part"},
	{LinkLocal, "links.local", "an <a href> to localhost, 127.0.0.1 or file:"},
	{LinkSession, "urls.session", "an <a href> with a session id: jsessionid, phpsessid or aspsessionid"},
	{DataInvalid, "structured.invalid", "a JSON-LD script that is no JSON"},
	{DataIncomplete, "structured.incomplete", "a JSON-LD object of schema.org that lacks a property that Google requires of its type"},
	{SharingIncomplete, "sharing.incomplete", "some Open Graph data, but not all of og:title, og:type, og:image and og:url"},
	{SharingRelative, "sharing.relative", "an og:image or og:url that does not begin with http:// or https://"},
	{SharingCard, "sharing.card", "a twitter:card other than summary, summary_large_image, app and player"},
	{InsecureFile, "security.mixed", "on an https page, a file that browsers load by http, unless the page has the policy upgrade-insecure-requests"},
	{InsecureForm, "security.form", "on an https page, a form that is sent by http"},
	{Password, "security.password", "on an http page, a field for a password"},
	{FieldLabel, "forms.label", "a form field without a label, aria-label, title or aria-describedby; except hidden ones"},

	{NoHSTS, "security.hsts", "an https answer without Strict-Transport-Security"},
	{NoCSP, "security.csp", "no Content-Security-Policy, in the header or in <meta>"},
	{NoSniff, "security.nosniff", "no X-Content-Type-Options: nosniff"},
	{NoReferrerPolicy, "security.referrer", "no Referrer-Policy, in the header or in <meta>"},
	{NoFraming, "security.framing", "neither X-Frame-Options nor frame-ancestors in Content-Security-Policy"},
	{Uncompressed, "transfer.uncompressed", "an answer of more than 1,400 bytes without Content-Encoding"},
	{Uncacheable, "transfer.uncacheable", "no-store, or neither a validator (ETag, Last-Modified) nor a time for which the answer stays fresh"},
}
