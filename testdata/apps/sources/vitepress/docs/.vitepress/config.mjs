export default {
  title: 'Kites', cleanUrls: true,
  themeConfig: { sidebar: [{ items: [{ text: 'Kite manual', link: '/' }, { text: 'The frame', link: '/frame' }, { text: 'The sail', link: '/sail' }, { text: 'The line', link: '/line' }] }] },
}
