import { createApp } from 'vue'
import { createRouter, createWebHistory } from 'vue-router'
import App from './App.vue'

const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/', component: () => import('./views/Home.vue'), meta: { title: 'Hot drinks' } },
    { path: '/tea', component: () => import('./views/Tea.vue'), meta: { title: 'Tea' } },
    { path: '/coffee', component: () => import('./views/Coffee.vue'), meta: { title: 'Coffee' } },
    { path: '/cocoa', component: () => import('./views/Cocoa.vue'), meta: { title: 'Cocoa' } },
    { path: '/mate', component: () => import('./views/Mate.vue'), meta: { title: 'Mate' } },
  ],
})
router.afterEach((to) => { document.title = to.meta.title })
createApp(App).use(router).mount('#app')
