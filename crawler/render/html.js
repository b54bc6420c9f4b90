// This script returns the HTML of the page, with its open shadow roots and without noscript elements. After each visible
// frame that the page may read comes what the frame shows. The result is null if the HTML has more than maxSize
// characters. Nothing moves between documents, because a frame that moves is requested again.
maxSize => {
	const root = document.documentElement ?? document.createElement('html');
	for (const n of document.querySelectorAll('noscript')) n.remove();
	const shadows = [], frames = [], mark = 'frame-' + crypto.getRandomValues(new Uint32Array(2)).join('-') + '-';
	const find = at => {
		for (const e of at.querySelectorAll('*')) {
			if (e.shadowRoot) { shadows.push(e.shadowRoot); find(e.shadowRoot) }
			const body = e.localName === 'iframe' && e.checkVisibility() && e.clientWidth > 1 && e.clientHeight > 1 && e.contentDocument?.body;
			if (body) {
				find(body);
				for (const a of body.querySelectorAll('a[href], area[href]')) if (typeof a.href === 'string') a.href = a.href;
				for (const n of body.querySelectorAll('iframe, script, style, noscript')) n.remove();
				e.after(mark + frames.push(body) + '-');
			}
		}
	};
	find(document);
	let html = root.getHTML({shadowRoots: shadows});
	for (let i = frames.length; i > 0; i--) html = html.replace(mark + i + '-', () => '<div>' + frames[i - 1].getHTML({shadowRoots: shadows}) + '</div>');
	return html.length > maxSize ? null : '<!DOCTYPE html>' + root.cloneNode(false).outerHTML.replace(/<\/html>$/, '') + html + '</html>';
}
